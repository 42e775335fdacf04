const [requests, messages] = await Promise.all<string>([
  playwright.browser_network_requests({ static: true }),
  playwright.browser_console_messages({ level: 'info' }),
]);

type Request = { method: string; url: URL; status: number };
const parsed = [...requests.matchAll(/\[(\w+)\] (\S+) => \[(\d+)\]/g)].map(
  ([, method, url, status]): Request => ({ method, url: new URL(url), status: +status }),
);

return {
  failed: parsed.filter(({ status }) => status >= 400).map(({ url }) => url.pathname),
  hosts: new Set(parsed.map(({ url }) => url.host)),
  errors: messages.split('\n').filter((line) => line.startsWith('[ERROR]')).length,
};
