return tools.describe('memory.read_grap').signature;
