import { dataOf } from './fixtures.ts'
import type { TestService } from './harness.ts'
import { createPhone } from './page/phone.ts'

let made = 0

/** A name that no group or rule of the test has yet. */
const newName = (): string => `n${++made}`

export const at = (org: number, path: string): string => `/svc/v1/organizations/${org}/${path}`

/** The operator creates a group. One person gets company until the rule exists: it must be completable if one of them asks. */
const createGroup = async (
  service: TestService,
  org: number,
  members: readonly string[],
): Promise<{ name: string; spare: string | undefined }> => {
  const name = newName()
  // All files of a worker share the count: a number that no test gives to anybody else.
  const spare = members.length > 1 ? undefined : (await createPhone(service, org, 500_000 + made)).user
  const all = spare === undefined ? members : [...members, spare]
  dataOf(await service.call('POST', at(org, 'groups'), { body: { name, members: all } }))
  return { name, spare }
}

/** The operator creates a rule: one of these people must approve what it matches. Returns the name of the rule and its group. */
export const createRule = async (
  service: TestService,
  org: number,
  { members, ...rule }: { members: readonly string[]; match: object } & Record<string, unknown>,
): Promise<{ rule: string; group: string }> => {
  const { name: group, spare } = await createGroup(service, org, members)
  const body = { name: newName(), who: [`@${group}`], ...rule }
  dataOf(await service.call('POST', at(org, 'rules'), { body }))
  if (spare !== undefined) dataOf(await service.call('DELETE', at(org, `groups/${group}/members/${spare}`)))
  return { rule: body.name, group }
}

/** As `createRule`, for calls of the service. */
export const holdCalls = (
  service: TestService,
  org: number,
  operation: readonly string[],
  members: readonly string[],
): Promise<{ rule: string; group: string }> =>
  createRule(service, org, { members, match: { type: 'request', operation } })
