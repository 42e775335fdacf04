// What the owner's rules cost a run of `1+1` and a call: pairs of runs with and without them, each
// in a process of its own. It measures processor time, which other work on the machine affects less
// than the time on a clock. Usage: node scripts/cost-of-rules.mjs BELLJAR [PAIRS]

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [belljar, pairs = '15'] = process.argv.slice(2)
if (!belljar) throw new Error('usage: node scripts/cost-of-rules.mjs BELLJAR [PAIRS]')

const CALLS = 5000
const folder = mkdtempSync(join(tmpdir(), 'rules-'))
const conditions = Array.from({ length: 20 }, (_, n) =>
  `[[rule]]\nid = 'r${n}'\ntools = 'demo.get_issue'\nargs.id = { min = ${1000 + n} }\nthen = 'deny'\n`).join('')
const asking = "[labels]\nread = 'demo.list_issues'\n[[rule]]\nid = 'label'\ncarries = 'read'\nthen = 'deny'\n" +
  "[[rule]]\nid = 'count'\nat_most = '5000/run'\nthen = 'deny'\n"
const rules = {
  none: null,
  'twenty rules': `default = 'allow'\n${conditions}`,
  'and a label, and a count': `default = 'allow'\n${asking}${conditions}`,
}
const sources = { '1+1': '1+1', [`${CALLS} calls`]: `for (let n = 0; n < ${CALLS}; n++) await demo.get_issue({ id: 1 }); 1` }

function run(source, policy) {
  const config = join(folder, policy === null ? 'without.toml' : 'with.toml')
  writeFileSync(config, policy === null ? "[servers.demo]\nbuiltin = 'demo'\n"
    : "[policy]\nfile = 'rules.toml'\n[servers.demo]\nbuiltin = 'demo'\n")
  if (policy !== null) writeFileSync(join(folder, 'rules.toml'), policy)
  const command = ['run', '--code', source, '--json', '--no-daemon', '--max-calls', String(CALLS), '--config', config]
  const { stdout, stderr } = spawnSync('bash', ['-c', "TIMEFORMAT='cpu %U %S'; time \"$@\"", 'bash', belljar, ...command], {
    env: { ...process.env, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder }, encoding: 'utf8', maxBuffer: 1 << 28,
  })
  const { ok, usage } = JSON.parse(stdout)
  if (!ok) throw new Error(stdout.slice(0, 500))
  const [, user, system] = stderr.match(/cpu ([\d.]+) ([\d.]+)\n$/)
  return { fuel: usage.fuel, cpu: Number(user) + Number(system) }
}

const median = numbers => numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)]

try {
  for (const [name, source] of Object.entries(sources)) {
    for (const [what, policy] of Object.entries(rules)) {
      const [ratios, times, fuel] = [[], [], new Set()]
      for (let pair = 0; pair < Number(pairs); pair++) {
        // Which of the two comes first changes with each pair.
        const order = pair % 2 ? [policy, null] : [null, policy]
        const usages = order.map(policy => run(source, policy))
        const [without, withRules] = pair % 2 ? usages.reverse() : usages
        ratios.push(withRules.cpu / without.cpu)
        times.push((withRules.cpu - without.cpu) * 1e6 / (name === '1+1' ? 1 : CALLS))
        fuel.add(withRules.fuel - without.fuel)
      }
      console.log(`${name}, ${what}: ratio ${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(2)} to ` +
        `${Math.max(...ratios).toFixed(2)}), ${median(times).toFixed(1)} µs more each, fuel ${[...fuel].join(' ')} more`)
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}
