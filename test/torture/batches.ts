import { type HandlerOf, prepare } from '../../src/service/call/call.ts'
import { handlers as allHandlers } from '../../src/service/handlers/all.ts'
import { dataOf, fence } from '../service/fixtures.ts'
import { minute } from '../service/clock.ts'
import { createTally, type Tally } from './race.ts'
import { type Broken, openStage, setRules, type Stage, yes } from './rule-stage.ts'
import type { Torture } from './torture.ts'

const times = 12
const timesOfControl = 2
const size = 8

type List = { id: string; names: string[] }

let made = 0

const inputOf = (org: number, name: string) => ({ org_id: org, ...fence, name, is_active: 0 })

const ask = async ({ service, org, key, path }: Stage): Promise<List> => {
  const names = Array.from({ length: size }, () => `fence ${++made}`)
  const rows = names.map((name) => ({ operation: 'createGeofence', input: inputOf(org, name) }))
  const { request_id } = dataOf(await service.call('POST', `${path}/batches`, { body: { rows }, key }))
  return { id: request_id, names }
}

/** Whether the service carried it out. */
const use = async (
  { service, org, key: own }: Stage,
  name: string,
  approval: string,
  key = own,
): Promise<boolean> => {
  const { org_id: _, ...body } = inputOf(org, name)
  const headers = { 'x-svc-approval': approval }
  const path = `/organization/${org}/create/geo-fence`
  return (await service.call('POST', path, { body, key, headers })).status === 200
}

type Attack = (stage: Stage, list: List, other: List) => Promise<boolean | number>

const sql = (stage: Stage, statement: string, values: unknown[]) => stage.service.runSql(statement, values)

/** Each must be refused. What one of them may do is done first. */
const attacks: Record<string, Attack> = {
  'another row': (stage, { id, names }) => use(stage, names[1]!, `${id}:0`),
  'a row of another list': (stage, { names }, other) => use(stage, names[0]!, `${other.id}:0`),
  'a change that no list has': (stage, { id }) => use(stage, `fence ${++made}`, `${id}:0`),
  'a row that the list lacks': (stage, { id, names }) => use(stage, names[0]!, `${id}:${size}`),
  'the whole approval': (stage, { id, names }) => use(stage, names[0]!, id),
  'another key': async (stage, { id, names }) => {
    const body = { name: `other ${++made}`, org_id: stage.org, scopes: ['all'] }
    const { key } = dataOf(await stage.service.call('POST', '/svc/v1/keys', { body }))
    return use(stage, names[0]!, `${id}:0`, key)
  },
  'a row twice': async (stage, { id, names }) => {
    await use(stage, names[2]!, `${id}:2`)
    return use(stage, names[2]!, `${id}:2`)
  },
  'a row several times at once': async (stage, { id, names }) => {
    const all = await Promise.all(Array.from({ length: 4 }, () => use(stage, names[3]!, `${id}:3`)))
    return Math.abs(all.filter(Boolean).length - 1)
  },
  'a row that the store calls unused again': async (stage, { id, names }) => {
    await use(stage, names[4]!, `${id}:4`)
    await sql(stage, 'update batch_rows set used_at = null where request_id = ? and row_index = 4', [id])
    return use(stage, names[4]!, `${id}:4`)
  },
  'a row that the store copied from another list': async (stage, { id }, other) => {
    await sql(
      stage,
      `update batch_rows set digest = (select digest from batch_rows where request_id = ? and row_index = 5)
       where request_id = ? and row_index = 5`,
      [other.id, id],
    )
    return use(stage, other.names[5]!, `${id}:5`)
  },
  'a list that nobody approved': (stage, _, other) => use(stage, other.names[6]!, `${other.id}:6`),
  'a row under a changed rule': async (stage, { id, names }) => {
    await setRules(stage, [{ type: 'request', operation: ['geofence'] }], { who: ['@strict:2'] })
    const done = await use(stage, names[6]!, `${id}:6`)
    await setRules(stage, [{ type: 'request', operation: ['geofence'] }])
    return done
  },
  'a row after its time': (stage, { id, names }) => {
    stage.clock.tick(11 * minute)
    return use(stage, names[7]!, `${id}:7`)
  },
}

/** Gives each row a second index, as a service would that does not count its rows. */
const twoIndexes: Broken = {
  createBatch: {
    before: async (input, outside) => {
      const work = await prepare(allHandlers.createBatch, input, outside)
      return async (call) => {
        const answer = await work(call)
        const { request_id } = answer as { request_id: string }
        const rows = await call.db
          .selectFrom('batch_rows')
          .where('request_id', '=', request_id)
          .where('org_id', '=', input.org_id)
          .selectAll()
          .execute()
        for (const { id: _, ...row } of rows) {
          const second = { ...row, row_index: row.row_index + size }
          const row_mac = call.keyring.macOf('batch_rows', second)
          await call.db
            .insertInto('batch_rows')
            .values({ ...second, row_mac })
            .execute()
        }
        return answer
      }
    },
  } satisfies HandlerOf<'createBatch'>,
}

const runAll = async (tally: Tally, count: number, broken?: Broken): Promise<void> => {
  for (let n = 0; n < count; n++) {
    const stage = await openStage(broken)
    await setRules(stage, [{ type: 'request', operation: ['geofence'] }])
    for (const [name, attack] of Object.entries(attacks)) {
      const [list, other] = [await ask(stage), await ask(stage)]
      if (!(await yes(stage, list.id, stage.strict[0]))) throw new Error('the list was not approved')
      tally.count++
      const wrong = Number(await attack(stage, list, other).catch(() => 1))
      if (wrong > 0) tally.wrong(name)
      else tally.hit(name)
      // The list is good: a row that nobody touched still works, but for what ends all of it.
      if (name !== 'a row after its time' && !(await use(stage, list.names[1]!, `${list.id}:1`)))
        tally.wrong(`${name}: an honest row was refused`)
      await stage.service.call('POST', `/svc/v1/approvals/${other.id}/withdraw`, { body: {} })
      stage.clock.tick(11 * minute)
    }
    await stage.service.close()
  }
}

export const torture: Torture = {
  name: 'Batches: another row, a row twice, a row of another list or key, and a changed store',
  must: 'each row once, by the key that asked, as people saw it',
  run: async () => {
    const honest = createTally()
    await runAll(honest, times)
    const control = createTally()
    await runAll(control, timesOfControl, twoIndexes)
    const { count, failures, hits, examples } = honest
    return { count, failures, hits, control: control.failures, examples }
  },
}
