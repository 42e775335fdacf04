return await box.hold({});
