const status = await git.git_status();
return status;
