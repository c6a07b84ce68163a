import { usageError } from '../../core/errors.ts'
import { safeJson, safeText } from '../../core/safe-text.ts'

/** What jq makes of the value: a string as it is (escaped only where `raw` would reach a terminal), all else as JSON. */
export const runJq = async (value: unknown, filter: string, onTerminal: boolean): Promise<string> => {
  const jq = await import('jq-wasm')
  // The space keeps a filter that starts with a hyphen from being taken for a flag of jq.
  const output = await jq.raw(JSON.stringify(value), ` ${filter}`, ['-c']).catch((error: Error) => {
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
