const { records } = await box.records({});
return records.filter((record) => record.open).map((record) => ({ id: record.id, name: record.name }));
