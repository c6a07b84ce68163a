import type { ApprovalRecord } from '../../../src/contract/approval.ts'
import { json, type Answering } from '../../fake-hosted.ts'
import { run, service } from '../other-service.ts'
import { record } from './records.ts'

// Commands of `svc approve` against another service of the contract with scripted responses.

export const approvals = '/svc/v1/approvals'
export const success = (data: unknown): Answering =>
  json(200, { status: 'success', message: 'OK', data }, { date: 'Thu, 01 Jan 2026 00:00:01 GMT' })
export const refused = (status: number, code: string): Answering =>
  json(status, { status: 'error', message: `It says ${code}`, data: { code } })
const noRoute = refused(404, 'no_such_route')

/** Sets the response for each method and path. Everything else is a 404. */
export const respondWith = (answers: Record<string, Answering>): void =>
  service.always((request, response) => {
    const path = request.path.replace(/\?.*/, '').replace('/admin/public/api', '')
    return (answers[`${request.method} ${path}`] ?? noRoute)(request, response)
  })
/** Responses for a request that is pending at first and ends with these changes. */
export const decides = (changes: Partial<ApprovalRecord> = {}): Record<string, Answering> => ({
  [`POST ${approvals}`]: success(record()),
  [`GET ${approvals}/apr_1`]: success(record(changes)),
})
export const sent = (method: string, path: string) =>
  service.seen.filter((one) => one.method === method && one.path.replace(/\?.*/, '').endsWith(path))

export const approve = (args: string[], env: Record<string, string> = {}) =>
  run(['approve', ...args], { env })
export const to = ['--to', '+12025550101']
