const raw = await tools.raw('git.git_checkout', { repo_path: '.', branch_name: 'old/spike' }).catch((error) => error);
return raw instanceof ToolError
  ? { failed: true, server: raw.server, tool: raw.tool, first: raw.content[0].text.split(':')[0] }
  : raw;
