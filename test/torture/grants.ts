import type { HandlerOf } from '../../src/service/call/call.ts'
import { handlers as allHandlers } from '../../src/service/handlers/all.ts'
import { decide } from '../service/approver.ts'
import { command } from '../service/approvals/command-subject.ts'
import { minute } from '../service/clock.ts'
import { dataOf } from '../service/fixtures.ts'
import { createTally, type Tally } from './race.ts'
import { type Broken, openStage, type Stage } from './rule-stage.ts'
import type { Torture } from './torture.ts'

const times = 6
const timesOfControl = 1
const uses = 3

const granted = command('kubectl', 'delete', 'pod', 'web-1')

type Used = { status: string; request_id: string; subject: { digest: string } }

const ask = async ({ service, key: own }: Stage, subject: object, key = own): Promise<Used> =>
  dataOf(await service.call('POST', '/svc/v1/approvals', { key, body: { subject } }))

/** Whether it was approved without anybody; otherwise it is withdrawn. */
const passes = async (stage: Stage, subject: object, key = stage.key): Promise<boolean> => {
  const answer = await stage.service.call('POST', '/svc/v1/approvals', { key, body: { subject } })
  if (answer.status !== 200) return false
  const { status, request_id } = dataOf(answer)
  if (status === 'approved') return true
  await stage.service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { key, body: {} })
  return false
}

const consume = async ({ service, key }: Stage, { request_id, subject }: Used): Promise<boolean> => {
  const path = `/svc/v1/approvals/${request_id}/consume`
  return (await service.call('POST', path, { key, body: { digest: subject.digest } })).status === 200
}

const argv = (...words: string[]) => command('kubectl', ...words)
const { data } = granted
const changed = (more: object) => ({ type: 'command', data: { ...data, ...more } })
const sql = (stage: Stage, statement: string, values: unknown[] = []) =>
  stage.service.runSql(statement, values)
const revoke = ({ service, path }: Stage, id: string) =>
  service.call('DELETE', `${path}/grants/${id}`, { body: undefined })

type Attack = (stage: Stage, id: string) => Promise<boolean | number>

/** Each must lead to a question, or to nothing. */
const attacks: Record<string, Attack> = {
  'an option': (stage) => passes(stage, argv('delete', 'pod', '--all')),
  'an option with a plus': (stage) => passes(stage, argv('delete', 'pod', '+all')),
  'a colon first': (stage) => passes(stage, argv('delete', 'pod', ':all')),
  'a path that leads up': (stage) => passes(stage, argv('delete', 'pod', 'a/../b')),
  'a space': (stage) => passes(stage, argv('delete', 'pod', 'web-1 --all')),
  'a quote': (stage) => passes(stage, argv('delete', 'pod', 'web-1";x"')),
  'a line break': (stage) => passes(stage, argv('delete', 'pod', 'web-1\n--all')),
  'a look-alike': (stage) => passes(stage, argv('delete', 'pod', 'wеb-1')),
  nothing: (stage) => passes(stage, argv('delete', 'pod', '')),
  'one word more': (stage) => passes(stage, argv('delete', 'pod', 'web-1', 'web-2')),
  'one word less': (stage) => passes(stage, argv('delete', 'pod')),
  'another word': (stage) => passes(stage, argv('delete', 'deploy', 'web-1')),
  'another file under the same name': (stage) =>
    passes(stage, changed({ executable: { ...data.executable, sha256: 'cd'.repeat(32) } })),
  'the same file elsewhere': (stage) =>
    passes(stage, changed({ executable: { ...data.executable, path: '/tmp/kubectl' } })),
  'another folder': (stage) => passes(stage, changed({ cwd: '/srv' })),
  'a variable': (stage) => passes(stage, changed({ environment: { passed: [], set: { KUBECONFIG: 'x' } } })),
  'another type': (stage) => passes(stage, { type: 'text', data: { text: 'kubectl delete pod web-1' } }),
  'another key': async (stage) => {
    const body = { name: 'other', org_id: stage.org, scopes: ['all'] }
    const { key } = dataOf(await stage.service.call('POST', '/svc/v1/keys', { body }))
    return passes(stage, granted, key)
  },
  'more uses at once': async (stage) => {
    const all = await Promise.all(Array.from({ length: 8 }, () => passes(stage, granted)))
    return Math.abs(all.filter(Boolean).length - uses)
  },
  'a use twice': async (stage) => {
    const use = await ask(stage, granted)
    await consume(stage, use)
    return consume(stage, use)
  },
  'a use after its end': async (stage, id) => {
    const use = await ask(stage, granted)
    await revoke(stage, id)
    return (await consume(stage, use)) || passes(stage, granted)
  },
  'a use while it ends': async (stage, id) => {
    const [used] = await Promise.all([ask(stage, granted), revoke(stage, id)])
    return (used.status === 'approved' && (await consume(stage, used))) || passes(stage, granted)
  },
  'an older head of the store': async (stage) => {
    await sql(stage, 'create table if not exists kept as select * from rule_heads')
    for (let n = 0; n < uses; n++) await ask(stage, granted)
    await sql(stage, 'delete from rule_heads')
    await sql(stage, 'insert into rule_heads select * from kept')
    const again = await passes(stage, granted)
    return again
  },
  'more uses in the store': async (stage) => {
    await sql(stage, `update rule_heads set grants = replace(grants, '"uses":${uses}', '"uses":99')`)
    return passes(stage, granted)
  },
  'after its time': async (stage) => {
    stage.clock.tick(11 * minute)
    return passes(stage, granted)
  },
  'without the device': async (stage) => {
    await stage.service.call('DELETE', `${stage.path}/devices/${stage.strict[0].device}`)
    return passes(stage, granted)
  },
}

/** Takes what is no plain word for one, as a service would that compares only the number of words. */
const careless: Broken = {
  createApproval: ((input, call) => {
    const create = allHandlers.createApproval as Extract<HandlerOf<'createApproval'>, Function>
    const { subject } = input
    if (subject?.type !== 'command') return create(input, call)
    return create({ ...input, subject: { type: 'command', data: granted.data } }, call)
  }) as HandlerOf<'createApproval'>,
}

const openGrant = async (broken?: Broken): Promise<{ stage: Stage; id: string }> => {
  const stage = await openStage(broken)
  const rule = {
    name: 'pods',
    match: { type: 'command', argv: ['kubectl', 'delete', 'pod', '*'] },
    who: ['@strict'],
    grant: { max_s: 600, uses },
  }
  const wide = { ...rule, name: 'wide', match: { type: 'command' } }
  for (const body of [rule, wide]) dataOf(await stage.service.call('POST', `${stage.path}/rules`, { body }))
  await stage.service.call('DELETE', `${stage.path}/rules/wide`)
  const { request_id } = await ask(stage, granted)
  dataOf(await decide(stage.service, request_id, stage.strict[0].key, { decision: 'approve', grant: true }))
  return { stage, id: request_id }
}

const runAll = async (tally: Tally, count: number, broken?: Broken): Promise<void> => {
  for (let n = 0; n < count; n++)
    for (const [name, attack] of Object.entries(attacks)) {
      const { stage, id } = await openGrant(broken)
      tally.count++
      // Nobody is asked without a rule, and that is refused.
      const wrong = Number(await attack(stage, id).catch(() => 0))
      if (wrong > 0) tally.wrong(name)
      else tally.hit(name)
      await stage.service.close()
    }
}

export const torture: Torture = {
  name: 'Grants: other words, files, folders and keys, uses raced, ended and put back',
  must: 'exactly what was granted, as often as it was',
  run: async () => {
    const honest = createTally()
    await runAll(honest, times)
    const control = createTally()
    await runAll(control, timesOfControl, careless)
    const { count, failures, hits, examples } = honest
    return { count, failures, hits, control: control.failures, examples }
  },
}
