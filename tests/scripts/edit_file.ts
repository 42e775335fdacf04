const path = 'src/math.ts';
const edits = [{ oldText: '// TODO: handle NaN\n', newText: '' }];
const { content: diff } = await fs.edit_file({ path, edits, dryRun: true });
const removed = diff.split('\n').filter((line: string) => /^-[^-]/.test(line));
if (removed.length === 1) await fs.edit_file({ path, edits });
const after = (await fs.read_text_file({ path })).content as string;
return { removed, stillThere: after.includes('TODO') };
