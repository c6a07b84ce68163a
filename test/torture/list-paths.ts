import { planRequest } from '../../src/client/request.ts'
import { fieldsOf } from '../../src/contract/describe.ts'
import { coreOf } from '../../src/contract/schema.ts'
import { operationIds, operationOf } from './requests.ts'

/** Every list of a whole organization that a key with `read` can ask for, and whether it has pages. */
const listsOf = (org: number) =>
  operationIds
    .filter((id) => {
      const { method, scope, session, operator, data, input } = operationOf(id)
      const isForReaders = [scope].flat().includes('read') && !session && !operator
      const isOfRequest = 'request_id' in input._zod.def.shape
      return method === 'GET' && isForReaders && !isOfRequest && data && coreOf(data).element
    })
    .map((id) => {
      const fields = new Set(fieldsOf(operationOf(id)).map(({ name }) => name))
      const input = {
        ...(fields.has('org_id') && { org_id: org }),
        ...(fields.has('userId') && { userId: '1' }),
        ...(fields.has('user_id') && { user_id: '1' }),
      }
      const { url } = planRequest('http://localhost/admin/public/api', operationOf(id), input)
      const { pathname, search } = new URL(url)
      return { path: pathname + search, hasPages: 'cursor' in operationOf(id).input._zod.def.shape }
    })

/** The first page of every list that has pages. */
export const pagesOf = (org: number, limit: number): string[] =>
  listsOf(org)
    .filter(({ hasPages }) => hasPages)
    .map(({ path }) => `${path}${path.includes('?') ? '&' : '?'}limit=${limit}`)

/** Every list, whole and in pages, and filters that no index covers. */
export const pathsOf = (org: number): string[] => {
  const api = `/admin/public/api/organization/${org}`
  return [
    ...listsOf(org).map(({ path }) => path),
    ...pagesOf(org, 1000),
    `/svc/v1/audit?org_id=${org}&actor=user:999999&action=createUser`,
    `/svc/v1/audit?org_id=${org}&actor=user:999999&action=createUser&limit=1000`,
    `${api}/users?email=nobody@acme.example`,
    `${api}/users?state=rejected&limit=10`,
    `/svc/v1/events?org_id=${org}&type=policy&from=2020-01-01T00:00:00Z`,
  ]
}
