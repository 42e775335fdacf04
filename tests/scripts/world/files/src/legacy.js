var table = {};
// TODO: remove after 3.0
module.exports = function (key) { return table[key]; };
