//! Natively what the sandbox is asked as well: the table of expressions and what Node makes of
//! them.

use belljar_guest_testing::holds;

#[test]
fn the_globals_of_the_web_do_as_in_node() {
    holds(include_str!("../../../../tests/tables/web.json"));
}
