import { SvcError } from '../core/errors.ts'

// The client's hints name flags and profiles of the command line. A program has options instead.
const replacements: [RegExp, string][] = [
  [/svc profile show --explain shows the address(?: in use)?/, 'check baseUrl'],
  [/svc profile show --explain/, 'baseUrl'],
  [/svc profile list, --profile NAME/, 'apiKey or apiKeyFile'],
  [/: --to(?: \S+)?(?: or --to \S+)?$/, ' in approvers'],
  [/--cacert FILE/, 'the option ca'],
  [/the id and --org/, 'the ids'],
  [/--limit (\d+)/, 'limit: $1'],
]

/** The same error, with a hint that a program can follow. */
export const inTermsOfOptions = (error: unknown): unknown => {
  if (!(error instanceof SvcError) || error.hint === undefined) return error
  const hint = replacements.reduce((text, [flag, option]) => text.replace(flag, option), error.hint)
  const isForCommandLine = /svc profile|SVC_|--base-url\b/.test(hint)
  const own = isForCommandLine ? 'Check baseUrl and the API key' : hint
  return own === error.hint ? error : error.with({ hint: own })
}

export const asLibraryCall = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw inTermsOfOptions(error)
  }
}
