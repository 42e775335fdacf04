return await everything.get_annotated_message({ messageType: 'warning' });
