try {
  const attempts = ['nope', 'f3a9c1d'].map((revision) => git.git_show({ repo_path: '.', revision }));
  const first = await Promise.any(attempts);
  console.log(first.split('\n')[1]);
  await Promise.allSettled(attempts);
  await Promise.any(['nope', 'none'].map((revision) => git.git_show({ repo_path: '.', revision })));
} catch (error) {
  return { name: error.name, reasons: error.errors.map((e) => e.message) };
}
