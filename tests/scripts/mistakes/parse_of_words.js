return tools.parse('Three files were changed. Two of them are new.');
