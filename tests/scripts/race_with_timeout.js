const timeout = (ms) => new Promise((_, reject) => setTimeout(() => reject(new Error(`timed out after ${ms} ms`)), ms));

async function limited(promise, ms) {
  try {
    return { ok: true, value: await Promise.race([promise, timeout(ms)]) };
  } catch (error) {
    return { ok: false, error: error.message };
  }
}

return {
  fast: await limited(everything.echo({ message: 'quick' }), 10_000),
  slow: await limited(new Promise((resolve) => setTimeout(resolve, 60_000)), 20),
};
