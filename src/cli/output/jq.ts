import { usageError } from '../../core/errors.ts'
import { safeJson, safeText } from '../../core/safe-text.ts'

/** Half a surrogate pair, which JSON may hold as an escape and jq refuses, becomes the replacement character. */
const wellFormed = (json: string): string =>
  json.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/g, (escape, lone?: string) => (lone ? '\ufffd' : escape))

/** What jq makes of the value: a string as it is (escaped only where `raw` would reach a terminal), all else as JSON. */
export const runJq = async (value: unknown, filter: string, onTerminal: boolean): Promise<string> => {
  const jq = await import('jq-wasm')
  // The space keeps a filter that starts with a hyphen from being taken for a flag of jq.
  const output = await jq
    .raw(wellFormed(JSON.stringify(value)), ` ${filter}`, ['-c'])
    .catch((error: Error) => {
      const [first = ''] = error.message.replace(/^.*?jq: error/s, 'jq: error').split('\n')
      throw usageError(`--jq: ${first}`, "--jq '.[].id'")
    })
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const result: unknown = JSON.parse(line)
      if (typeof result !== 'string') return `${safeJson(result)}\n`
      return `${onTerminal ? safeText(result) : result}\n`
    })
    .join('')
}
