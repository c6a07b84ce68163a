import { safeJson } from '../core/safe-text.ts'
import { quoted } from '../core/shell-word.ts'
import type { PlannedRequest } from './request.ts'

/** A line for a POSIX shell that sends the same request; the key stays in the environment. */
export const curlLine = ({
  method,
  url,
  body,
}: Omit<PlannedRequest, 'method'> & { method: string }): string =>
  [
    'curl',
    // Brackets and braces (`[::1]`) would be patterns to curl.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    ...(method === 'GET' ? [] : ['-X', method]),
    quoted(url),
    '-H "x-api-key: $SVC_API_KEY"',
    "-H 'content-type: application/json'",
    ...(body === undefined ? [] : ['--data-raw', quoted(safeJson(body))]),
  ].join(' ')
