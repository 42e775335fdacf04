const response = await git.git_status({ repo_path: '.' });
return response.content[0].text;
