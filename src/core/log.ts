import { safeText } from './safe-text.ts'

export type LogRecord = {
  at: string
  level: 'info' | 'warn' | 'error'
  message?: string
  request_id?: string
  method?: string
  /** The template of the path: the values in a real path can be secrets. */
  route?: string
  status?: number
  ms?: number
  /** The name of the key. */
  key?: string | undefined
  /** The organization of the key or of the person at the approver page. */
  org_id?: number | undefined
  /** The address of the client. */
  ip?: string | undefined
  /** The process that wrote the line, as `svc service nodes` lists it, and its build. */
  node?: string
  version?: string | undefined
  error?: string | undefined
  /** From the `traceparent` of the request. */
  trace_id?: string
  parent_id?: string
}

export type Log = (record: LogRecord) => void

const secrets = /(svc_(?:op|org)_[0-9a-f]{8}_)[\w-]+/g

const pretty = ({ at, level, message, error, ...rest }: LogRecord): string => {
  const { method, route, status, ms, key, request_id } = rest
  const request = method && `${status} ${method} ${route} ${ms} ms${key ? ` ${key}` : ''} ${request_id}`
  return [at.slice(11, 19), level === 'info' ? '' : level, request, message, error].filter(Boolean).join(' ')
}

/** Writes one line per record, and all lines of one turn of the event loop together: JSON, or text for people. */
export const createLog = (write: (line: string) => void, forPeople = false): Log => {
  const lineOf = (record: LogRecord): string =>
    forPeople ? safeText(pretty(record)) : JSON.stringify(record)
  let records: LogRecord[] = []
  // After the responses of this turn, which do not wait for their lines then.
  const flush = (): void => {
    const text = records.map(lineOf).join('\n').replace(secrets, '$1***')
    records = []
    write(text)
  }
  return (record) => {
    if (records.push(record) === 1) setImmediate(flush)
  }
}
