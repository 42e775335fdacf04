const rows = ['2026-03-04', 'the 4th of March', 'soon'].map((text) => ({ text, date: new Date(text) }));
return { rows };
