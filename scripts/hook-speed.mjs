// How long `belljar hook` takes from its start to its end, with a running daemon: for a call that
// no rule fits, for one that is denied each time, and for `true`, which shows what starting a
// process costs here.
// usage: node scripts/hook-speed.mjs [BELLJAR [TIMES]]

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const [program = 'target/release/belljar', times = '200'] = process.argv.slice(2)
const belljar = resolve(program)
const folder = mkdtempSync(join(tmpdir(), 'hook-'))
const config = join(folder, 'belljar.toml')
writeFileSync(config, "[[hook]]\ntools = 'Grep'\npatterns = ['class ']\nmode = 'enforce'\n" +
  "say = 'demo.list_issues({query: {name}})'\n[servers.demo]\nbuiltin = 'demo'\n")
const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_RUNTIME_DIR: folder }
delete env.BELLJAR_NO_DAEMON

const run = (command, args, input) => {
  const start = process.hrtime.bigint()
  const { status, stdout, stderr } = spawnSync(command, args, { env, input, cwd: folder })
  const milliseconds = Number(process.hrtime.bigint() - start) / 1e6
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${status} ${stderr}`)
  return { milliseconds, text: stdout.toString() }
}
const hook = (pattern) => {
  const call = { session_id: 's', cwd: folder, tool_name: 'Grep', tool_input: { pattern, path: folder } }
  return run(belljar, ['hook', 'claude-code', 'PreToolUse', '--config', config], JSON.stringify(call))
}
const cases = {
  'starting a process': () => run('true', []),
  'a call that no rule fits': () => hook('func Asset'),
  'a call that is denied': () => {
    const answer = hook('class Asset')
    if (!answer.text.includes('"deny"')) throw new Error(`not denied: ${answer.text}`)
    return answer
  },
}

try {
  run(belljar, ['daemon', 'start', '--config', config])
  for (const [name, once] of Object.entries(cases)) {
    once()
    const taken = Array.from({ length: Number(times) }, () => once().milliseconds).sort((a, b) => a - b)
    const at = (part) => taken[Math.min(taken.length - 1, Math.floor(taken.length * part))].toFixed(1)
    console.log(`${name}: median ${at(0.5)} ms, p99 ${at(0.99)} ms`)
  }
} finally {
  run(belljar, ['daemon', 'stop', '--config', config])
  rmSync(folder, { recursive: true, force: true })
}
