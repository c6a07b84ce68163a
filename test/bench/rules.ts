import type { Facts } from '../../src/rules/match.ts'
import { rulesHolding } from '../../src/service/approvals/holding.ts'
import { readBook } from '../../src/service/policy/group-rows.ts'
import { requirementOf } from '../../src/service/policy/rules.ts'
import { createApprover } from '../service/approver.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService } from '../service/harness.ts'
import { median, type Figure } from './figures.ts'

// Who must approve a command: reading the rules of an organization, proving that they are whole, and finding those that hold.

const decisions = 100
const rounds = 40
const warmUp = 15

const ruleOf = (n: number) => ({
  name: `rule-${n}`,
  match: {
    type: 'command',
    argv: [`tool-${n}`, '**', 'destroy', '**'],
    cwd: ['/srv/prod/**', '/srv/**/live/**'],
  },
  except: [{ cwd: ['/srv/prod/sandbox/**'] }],
  who: ['@sre'],
})

const facts: Facts = {
  type: 'command',
  argv: ['tool-1', '-chdir=live', 'destroy', '-auto-approve'],
  cwd: '/srv/prod/live',
  executable: '/usr/bin/tool-1',
  hasVariables: false,
}

/** An organization with so many rules, of which the last one holds the command. */
const start = async (count: number) => {
  const service = await startTestService({ dev: true })
  const { id: org, keyId } = await createTenant(service, 'acme')
  const people = [await createApprover(service, org, 1), await createApprover(service, org, 2)]
  const path = `/svc/v1/organizations/${org}`
  const members = people.map(({ id }) => Number(id))
  dataOf(await service.call('POST', `${path}/groups`, { body: { name: 'sre', members } }))
  const rules = Array.from({ length: count }, (_, n) => ruleOf(count - n))
  dataOf(await service.call('POST', `${path}/rule-changes`, { body: { rules } }))
  const caller = { keyId: Number(keyId), name: 'bench', orgId: org, scopes: new Set<never>() }
  return { service, org, caller }
}

type Stage = Awaited<ReturnType<typeof start>>

const decide = async ({ service, org, caller }: Stage): Promise<void> => {
  const { keyring, storage } = service
  await storage.read(async (db) => {
    const call = { db, keyring }
    const book = await readBook(call, org)
    const holding = await rulesHolding(call, book, { facts, caller, orgId: org })
    if (requirementOf(org, book, { holding }).rules.length !== 1)
      throw new Error('Not exactly one rule holds')
  })
}

const took = async (stage: Stage): Promise<number> => {
  const began = performance.now()
  for (let n = 0; n < decisions; n++) await decide(stage)
  return performance.now() - began
}

/** Measures both in turn, so that other load affects both. The first rounds warm up. */
export const ruleFigure = async (): Promise<Figure> => {
  const stages: [Stage, Stage] = [await start(100), await start(1)]
  const ratios: number[] = []
  try {
    for (let round = 0; round < rounds; round++)
      ratios.push((await took(stages[0])) / (await took(stages[1])))
  } finally {
    for (const { service } of stages) await service.close()
  }
  return {
    what: 'decision with 100 rules / with 1',
    figure: median(ratios.slice(warmUp)),
    unit: '',
    must: 3,
    beyond: 1.5,
    more: false,
  }
}
