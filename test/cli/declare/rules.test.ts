import { describe, expect, test } from 'vitest'
import { findAskingProblems } from '../../../src/cli/declare/asking-problems.ts'
import { readDocument } from '../../../src/cli/declare/document.ts'
import { exportText } from '../../../src/cli/declare/export-text.ts'
import { planFrom } from '../../../src/cli/declare/plan.ts'
import { planText } from '../../../src/cli/declare/plan-output.ts'
import { SvcError } from '../../../src/core/errors.ts'
import type { HttpRequest } from '../../../src/core/transport.ts'
import { dataOf } from '../../service/fixtures.ts'
import {
  acme,
  ada,
  alan,
  create,
  grace,
  installHooks,
  loseDevice,
  service,
} from '../../service/members/groups-stage.ts'
import { apply, clientOf, read } from './in-process.ts'

installHooks()

const head = 'svc: 1\norganization: { slug: acme, name: acme }\n'
const destroy = `
  - name: destroy
    match: { type: command, argv: [terraform, "**", destroy, "**"], cwd: ["/srv/prod/**"] }
    who: ["@dba"]
    number: true
`
const file = (rules: string, groups = '') => readDocument(`${head}${groups}rules:${rules}`, 'org.yaml')
const groupsOf = (...names: string[]): string =>
  `groups: [${names.map((name) => `{ name: ${name}, members: ["${ada.mobile}", "${grace.mobile}"] }`).join(', ')}]\n`

const rules = async () =>
  dataOf(await service.call('GET', `/svc/v1/organizations/${acme.id}/rules`)) as {
    name: string
    number?: boolean
  }[]

/** What is wrong with a text, each as `place: sentence`. */
const wrong = (text: string): string[] => {
  try {
    file(text)
  } catch (error) {
    if (error instanceof SvcError) return error.issues!.map(({ field, message }) => `${field}: ${message}`)
    throw error
  }
  throw new Error('nothing is wrong with it')
}

/** Why nobody could satisfy a file, each as `path: sentence`. */
const unaskable = async (wanted: ReturnType<typeof file>, { prune = false } = {}): Promise<string[]> => {
  const client = clientOf(service)
  const state = await read(client)
  const plan = planFrom(wanted, state, { prune })
  const problems = await findAskingProblems({ rows: wanted.rows, state, plan, prune }, client)
  return problems.flatMap((one) =>
    wanted.invalid([{ ...one, field: '' }]).issues!.map(({ field, message }) => field + message),
  )
}

describe('the rules of a file', () => {
  test('are created with their groups in one call, changed whole, and deleted', async () => {
    const seen: HttpRequest[] = []
    const client = clientOf(service, { seen })
    const made = await apply(file(destroy, groupsOf('dba')), client)
    expect(made.failed).toEqual([])
    expect((await rules()).map(({ name, number }) => [name, number])).toEqual([['destroy', true]])
    const changed = await apply(file(destroy.replace('    number: true\n', ''), groupsOf('dba')), client)
    expect(changed.done.map(({ step }) => step.changes)).toEqual([[{ field: 'number', before: true }]])
    expect((await rules()).map(({ number }) => number)).toEqual([undefined])
    const removed = await apply(file(' []', 'groups: []\n'), client)
    expect(removed.failed).toEqual([])
    expect(await rules()).toEqual([])
    const writes = seen.filter(({ method }) => method !== 'GET').map(({ url }) => new URL(url).pathname)
    expect(writes).toEqual(Array(3).fill(`/svc/v1/organizations/${acme.id}/rule-changes`))
  })

  test('are what an export writes', async () => {
    const client = clientOf(service)
    await apply(file(destroy, groupsOf('dba')), client)
    const state = await read(client)
    const text = exportText(state)
    expect(text).toContain('rules:\n  - name: destroy\n    match:\n      type: command\n')
    expect(planFrom(readDocument(text, 'x'), state, { prune: true }).steps).toEqual([])
  })

  test('are left alone by a file without them', async () => {
    const client = clientOf(service)
    await apply(file(destroy, groupsOf('dba')), client)
    await apply(readDocument(`${head}${groupsOf('dba')}`, 'x'), client)
    expect(await rules()).toHaveLength(1)
  })

  test('are shown in words', async () => {
    const plan = planFrom(file(destroy, groupsOf('dba')), await read(clientOf(service)), { prune: false })
    expect(planText(plan, { colour: false, masked: true })).toContain(
      '+ rules/destroy  match terraform ** destroy ** in /srv/prod/**, who @dba, number true',
    )
  })

  test('name each mistake with its line and column, before any request', () => {
    expect(
      wrong(`
  - name: Prod
    match: { type: command, argv: [/usr/bin/terraform] }
    who: [ada]
    numbers: true
  - name: people
    match:
    who: "@database:2"
    timeout: 600
`),
    ).toEqual([
      'org.yaml:4:5 rules[0].name: must be 1 to 40 lower-case letters, digits and hyphens, starting with a letter',
      'org.yaml:6:11 rules[0].who[0]: must be a group such as @sre or @sre:2, not "ada"',
      'org.yaml:7:5 rules[0].numbers: is not a known field; did you mean number?',
      'org.yaml:9:5 rules[1].match: must be an object',
      'org.yaml:10:5 rules[1].who: must be a list: ["@database:2"]',
      'org.yaml:11:5 rules[1].timeout: is not a known field; it is called lifetime_s, in seconds',
    ])
    expect(
      wrong(`
  - name: prod
    match: { type: command, argv: [/usr/bin/terraform] }
    who: ["@dba"]
  - name: people
    match: { type: request, operation: [user delte] }
    who: ["@dba"]
  - name: files
    match: { type: file, argv: [x] }
    who: ["@dba"]
  - name: reasons
    match: { type: file }
    who: ["@dba"]
    reason: { pattern: INC-*, example: ticket }
`),
    ).toEqual([
      'org.yaml:5:36 rules[0].match.argv[0]: must be the name of a program, without its folder',
      'org.yaml:8:41 rules[1].match.operation[0]: is not a command that a rule can hold: "user delte"; did you mean "user delete"?',
      'org.yaml:11:26 rules[2].match.argv: is not known in a file: it has file',
      'org.yaml:16:31 rules[3].reason.example: does not match the pattern INC-*, in which only * is special: "ticket"',
    ])
  })
})

describe('whom the rules of a file ask', () => {
  test('are groups that exist', async () => {
    dataOf(await create('sre', [ada.id, grace.id]))
    expect(await unaskable(file(destroy.replace('@dba', '@sree')))).toEqual([
      'org.yaml:6:11 names a group that does not exist: sree; did you mean @sre?',
    ])
    expect(await unaskable(file(destroy.replace('@dba', '@sre')))).toEqual([])
  })

  test('are groups that --prune keeps', async () => {
    dataOf(await create('sre', [ada.id, grace.id]))
    const wanted = file(destroy.replace('@dba', '@sre'), groupsOf('dba'))
    expect(await unaskable(wanted, { prune: true })).toEqual([
      'org.yaml:7:11 names a group that --prune deletes, because the file does not have it: sre',
    ])
    expect(await unaskable(wanted)).toEqual([])
  })

  test('are as many as must agree, and can be asked', async () => {
    dataOf(await create('dba', [ada.id]))
    expect(await unaskable(file(destroy.replace('@dba', '@dba:2')))).toEqual([
      'org.yaml:6:11 needs 3 of the group dba, because one of them may be the requester, and only 1 of it can be asked',
    ])
    dataOf(await create('two', [ada.id, grace.id]))
    expect(await unaskable(file(destroy.replace('@dba', '@two:2')))).toEqual([
      'org.yaml:6:11 needs 3 of the group two, because one of them may be the requester, and only 2 of it can be asked',
    ])
    await loseDevice()
    expect(await unaskable(file(destroy))).toEqual([
      'org.yaml:6:11 needs 2 of the group dba, because one of them may be the requester, and nobody of it can be asked',
    ])
  })

  test('are not checked again in a rule that stays as it is', async () => {
    await apply(file(destroy, groupsOf('dba')), clientOf(service))
    await loseDevice()
    await loseDevice(grace)
    expect(await unaskable(file(destroy))).toEqual([])
  })
})

test('whoever joins a group has a device, unless the file adds them', async () => {
  await loseDevice(alan)
  const groups = `groups:
  - name: dba
    members: ["${ada.mobile}", "${alan.mobile}", "+12025550199"]
`
  expect(await unaskable(file(destroy, groups))).toEqual([
    `org.yaml:5:31 has no active device; this creates a link that registers one: svc user enroll ${alan.id} --org ${acme.id}`,
    'org.yaml:5:47 is not a user of the organization; a user must register a device before they can be in a group',
  ])
  const added = `users: [{ mobile: "+12025550199", first_name: A, last_name: B, email: a@b.example }]
groups: [{ name: dba, members: ["${ada.mobile}", "+12025550199"] }]
`
  expect(await unaskable(file(destroy, added))).toEqual([])
})
