// Some revisions do not exist; take the first that does.
const revisions = ['v9.9.9', 'deadbeef', 'f3a9c1d'];
let shown = null;
for (const revision of revisions) {
  try {
    shown = await git.git_show({ repo_path: '.', revision });
    console.info(`found ${revision}`);
    break;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    console.debug(`${revision}: ${error.message}`);
  }
}
return shown?.split('\n').find((line) => line.startsWith('Message'));
