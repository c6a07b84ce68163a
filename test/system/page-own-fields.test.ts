import type { Locator } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { dataOf } from '../service/fixtures.ts'
import { installHooksBehindProxy, stage } from './open-stage.ts'
import { flaws } from './page-flaws.ts'
import type { Phone } from './page-phone.ts'

// What svc itself changes is read by name, in the language of the page, and not as JSON.

installHooksBehindProxy({ keepPhones: true })

let key = ''
let phone: Phone
let grace: Awaited<ReturnType<typeof stage.person>>

const organization = () => `/svc/v1/organizations/${stage.org.id}`
const call = async (method: string, path: string, body?: object) =>
  dataOf(await stage.service.call(method, organization() + path, body && { body }))

/** A key, and a rule that holds what it does to groups and rules. */
beforeAll(async () => {
  grace = await stage.person({ first_name: 'Grace', last_name: 'Hopper', role: 'admin' })
  phone = await stage.enrolled(grace)
  const mary = await stage.person({ first_name: 'Mary', last_name: 'Shaw' })
  await stage.enrolled(mary)
  await call('POST', '/groups', { name: 'dba', members: [String(grace.id), String(mary.id)] })
  const match = { type: 'request', operation: ['group', 'rule'] }
  await call('POST', '/rules', { name: 'guard', match, who: ['@dba'] })
  const body = { name: 'ci', org_id: stage.org.id, scopes: ['ask', 'rules'] }
  key = dataOf(await stage.service.call('POST', '/svc/v1/keys', { body })).key
})

/** The id of the request for a call that the rule holds. */
const held = async (method: string, path: string, body: object): Promise<string> => {
  const { status, body: answer } = await stage.service.call(method, organization() + path, { key, body })
  expect([status, answer.message]).toEqual([
    403,
    'The organization requires an approval for this; nothing was changed',
  ])
  return (answer as unknown as { data: { request: { request_id: string } } }).data.request.request_id
}

const opened = async (request_id: string, language: string): Promise<Locator> => {
  await phone.page.evaluate(`localStorage.setItem('svc-language', '${language}')`)
  await phone.page.goto(`${stage.origin}/approver#request=${request_id}`)
  await phone.page.reload()
  const signed = phone.page.locator('.signed')
  await signed.waitFor()
  return signed
}

/** A field by its label. */
const field = (place: Locator, label: string): Locator =>
  place
    .locator('.line, .parts > div')
    .filter({ has: phone.page.locator(':scope > dt').filter({ hasText: new RegExp(`^${label}$`) }) })

const shownBy = async (request_id: string) =>
  dataOf(await stage.service.call('GET', `/svc/v1/approvals/${request_id}`))

test('a change of a group names its fields in German and marks who is new', async () => {
  const ada = await stage.person({ first_name: 'Ada', last_name: 'Roe' })
  await stage.enrolled(ada)
  const signed = await opened(await held('POST', '/groups/dba/members', { user_id: String(ada.id) }), 'de')
  const members = field(signed, 'Mitglieder')
  await members.waitFor()
  expect(await members.locator('li').allTextContents()).toEqual([
    expect.stringMatching(/^Grace Hopper/),
    expect.stringMatching(/^Mary Shaw/),
    expect.stringMatching(/^Ada Roe/),
  ])
  expect(await members.locator('ins').allTextContents()).toEqual([expect.stringMatching(/^Ada Roe/)])
  expect(await signed.getByText('members').count()).toBe(0)
  expect(await flaws(phone)).toEqual([])
})

test('a rule is shown as lists, in each of which a tool names its own arguments, and its exact text on demand', async () => {
  const match = { type: 'tool_call', server: ['github'], arguments: { name: ['main', 'v1'] } }
  const id = await held('POST', '/rules', { name: 'merge', match, who: ['@dba'], number: true })
  const signed = await opened(id, 'ja')
  const shown = field(signed, '対象')
  await shown.waitFor()
  expect(await field(signed, 'サーバー').locator('li').allTextContents()).toEqual(['github'])
  expect(await field(signed, '番号の入力').locator('dd').textContent()).toBe('はい')
  expect(await field(shown, '引数').locator('.parts dt').allTextContents()).toEqual(['name'])
  expect(await field(shown, 'name').locator('li').allTextContents()).toEqual(['main', 'v1'])
  expect(await signed.getByText('{').count()).toBe(0)
  expect(await flaws(phone)).toEqual([])

  await signed.locator('summary').click()
  const { subject } = await shownBy(id)
  const exact = signed.locator('details .line')
  await exact.first().waitFor()
  expect(await exact.locator('dt').allTextContents()).toContain('match')
  const values = subject.fields.map(({ value }: { value: string }) => value)
  expect(await exact.locator('dd').allTextContents()).toEqual(values)
  expect(values).toContainEqual(expect.stringContaining('{"arguments":{"name":["main","v1"]}'))
  expect(await flaws(phone)).toEqual([])
})

test('a change of a rule marks only the parts that change', async () => {
  const match = { type: 'request', operation: ['group', 'rule', 'key'] }
  const body = { rules: [{ name: 'guard', match, who: ['@dba'] }] }
  const id = await held('POST', '/rule-changes', body)
  const signed = await opened(id, 'en')
  const shown = field(signed, 'Rule guard · What it applies to')
  await shown.waitFor()
  expect(await field(shown, 'Type').locator('dd').textContent()).toBe('request')
  expect(await shown.locator('ins').allTextContents()).toEqual(['key'])
  expect(await shown.locator('del').count()).toBe(0)
  expect(await flaws(phone)).toEqual([])
  dataOf(await stage.service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { key, body: {} }))
})

test('what a requester wrote keeps its names and its JSON, although it looks the same', async () => {
  const data = {
    organization: null,
    operation: 'createGroup',
    body: { members: ['Grace'], match: { type: 'text' } },
  }
  const body = { subject: { type: 'request', data }, approvers: [grace.mobile_e164] }
  const { request_id } = dataOf(await stage.service.call('POST', '/svc/v1/approvals', { key, body }))
  const signed = await opened(request_id, 'de')
  await field(signed, 'members').waitFor()
  expect(await field(signed, 'match').locator('dd').textContent()).toBe('{"type":"text"}')
  expect(await signed.getByText('Mitglieder').count()).toBe(0)
  expect(await signed.locator('summary').count()).toBe(0)
})
