import { dataOf } from '../service/fixtures.ts'
import { enroll } from '../service/approver.ts'
import { appendForged } from '../service/forged-audit.ts'
import { below, turns } from './approvers.ts'
import { askFor, later, setRules, type Stage, uses, yes } from './rule-stage.ts'
import { otherRules, type Spelling } from './rule-spellings.ts'
import type { Tally } from './race.ts'

/** What is wrong after an attack; undefined if nothing is. */
export type Verdict = Promise<string | undefined>

/** Asks for what a rule holds. Mallory's yes must not suffice, and that of the people of the rule must. */
export const spelled = async (stage: Stage, { match, subject, except }: Spelling, tally: Tally): Verdict => {
  const need = 1 + below(2)
  const others = otherRules()
  await setRules(stage, others.toSpliced(below(others.length + 1), 0, match), {
    who: [`@strict:${need}`],
    except: except === true,
  })
  const id = await askFor(stage, subject, { named: below(4) > 0 })
  await yes(stage, id, stage.mallory)
  if (await uses(stage, id)) return 'used without the people of the rule'
  tally.hit('held')
  for (const one of stage.strict.slice(0, need)) await yes(stage, id, one)
  if (!(await uses(stage, id))) return 'not usable with all yeses'
  tally.hit('used with the people')
  return undefined
}

const orderOf = async ({ service, org }: Stage, actions: readonly string[]): Promise<string[]> => {
  const rows: { action: string }[] = dataOf(await service.call('GET', `/svc/v1/audit?org_id=${org}&limit=40`))
  return rows.map(({ action }) => action).filter((action) => actions.includes(action))
}

/** A rule is created or changed while an approval that nobody of it gave is used. */
export const between = async (stage: Stage, tally: Tally): Verdict => {
  const text = `Deploy ${Math.random()}`
  const loose = { type: 'text', text: ['something else'] } as const
  await setRules(stage, [{ ...loose, text: [...loose.text] }])
  const id = await askFor(stage, { type: 'text', data: { text } })
  if (!(await yes(stage, id, stage.mallory))) return 'not approved without a rule'
  const [used] = await Promise.all([
    turns(below(40)).then(() => uses(stage, id)),
    turns(below(400)).then(() => setRules(stage, [{ type: 'text', text: ['Deploy*'] }])),
  ])
  const [last] = await orderOf(stage, ['consumeApproval', 'setRules'])
  tally.hit(used ? 'used before the rule' : 'rule before the use')
  return used && last === 'consumeApproval' ? 'used although the rule came first' : undefined
}

/** The only people of a rule leave, and somebody with their names and numbers comes back with a device of the attacker. */
export const comeBack = async (stage: Stage, tally: Tally): Verdict => {
  const { service, org, key, strict } = stage
  await setRules(stage, [{ type: 'text' }])
  const id = await askFor(stage, { type: 'text', data: { text: 'Pay' } })
  const phones: { key: (typeof strict)[0]['key'] }[] = []
  for (const { id: user, mobile } of strict) {
    dataOf(await service.call('DELETE', `/organization/${org}/delete/user/${user}`, { key }))
    const body = {
      email: `again${mobile}@acme.example`,
      country_code: '+1',
      mobile: mobile.slice(2),
      first_name: 'Ada',
      last_name: 'Lovelace',
    }
    const again = dataOf(await service.call('POST', `/organization/${org}/create/user`, { key, body }))
    const made = await enroll(service, org, again.id, 'ES256', key).catch(() => undefined)
    if (made) phones.push(made)
  }
  tally.hit('devices of people who came back', phones.length)
  for (const phone of [stage.mallory, ...phones]) await yes(stage, id, { ...stage.mallory, key: phone.key })
  if (await uses(stage, id)) return 'used with devices of people who came back'
  later(stage)
  const next = await askFor(stage, { type: 'text', data: { text: 'Pay again' } }).catch(() => undefined)
  tally.hit('asked again', Number(next !== undefined))
  if (next === undefined) return undefined
  for (const phone of [stage.mallory, ...phones]) await yes(stage, next, { ...stage.mallory, key: phone.key })
  return (await uses(stage, next)) ? 'a new request used with devices of people who came back' : undefined
}

const headColumns = ['counter', 'digest', 'rules', 'grants', 'audit_seq', 'audit_hash', 'row_mac'] as const

/** Everything that another program can put back or take away in the store, without the master key. */
export const tampered = async (stage: Stage, tally: Tally): Verdict => {
  const { service, org } = stage
  const { runSql } = service
  await setRules(stage, [])
  const [head] = await runSql('select * from rule_heads where org_id = ?', [org])
  const groups = await runSql('select * from groups where org_id = ?', [org])
  await setRules(stage, [{ type: 'file' }])
  await setRules(stage, [{ type: 'text' }])
  const [now] = await runSql('select * from rule_heads where org_id = ?', [org])
  const put = (row: Record<string, unknown>): Promise<unknown> =>
    runSql(`update rule_heads set ${headColumns.map((one) => `${one} = ?`).join(', ')} where org_id = ?`, [
      ...headColumns.map((one) => row[one]),
      org,
    ])
  const next = `rules:${Number(head!['counter']) + 1}`
  let forged = Number.MAX_SAFE_INTEGER
  const acts: Record<string, () => Promise<unknown>> = {
    'an old head put back': () => put(head!),
    'an old head put back, and the audit row after it renamed': async () => {
      await put(head!)
      await runSql('update audit set subject = ? where org_id = ? and subject = ?', ['x', org, next])
    },
    'a head deleted': () => runSql('delete from rule_heads where org_id = ?', [org]),
    'the rules of a head changed': () => put({ ...now, rules: '[]' }),
    'the number of a head raised': () => put({ ...head, counter: Number(now!['counter']) + 1 }),
    'the members of a group changed': () =>
      runSql('update groups set members = ? where org_id = ?', [`[${stage.mallory.id}]`, org]),
    'the groups deleted': () => runSql('delete from groups where org_id = ?', [org]),
    'groups and head deleted': async () => {
      await runSql('delete from groups where org_id = ?', [org])
      await runSql('delete from rule_heads where org_id = ?', [org])
    },
    'an old head put back behind a new audit row with its number': async () => {
      await put(head!)
      forged = await appendForged(service, org, Number(head!['counter']))
    },
  }
  for (const [name, act] of Object.entries(acts)) {
    later(stage)
    await act()
    const id = await askFor(stage, { type: 'text', data: { text: name } }).catch(() => undefined)
    if (id !== undefined) {
      await yes(stage, id, stage.mallory)
      if (await uses(stage, id)) return `used after ${name}`
    }
    tally.hit(name)
    // Nothing that follows a forged row is genuine.
    await runSql('delete from audit where org_id = ? and seq >= ?', [org, forged])
    await runSql('update audit set subject = ? where org_id = ? and subject = ?', [next, org, 'x'])
    await runSql('delete from rule_heads where org_id >= ?', [org])
    await runSql('delete from groups where org_id = ?', [org])
    const columns = ['id', 'org_id', 'name', 'members', 'created_at', 'deleted_at', 'row_mac'] as const
    for (const group of groups)
      await runSql(
        `insert into groups (${columns.join(', ')}) values (?, ?, ?, ?, ?, ?, ?)`,
        columns.map((column) => group[column]),
      )
    await runSql(
      `insert into rule_heads (org_id, ${headColumns.join(', ')}) values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [org, ...headColumns.map((one) => now![one])],
    )
  }
  return undefined
}
