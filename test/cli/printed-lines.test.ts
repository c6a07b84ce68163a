import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { root, sourceTree, unknownValue } from '../source-tree.ts'
import { mentionsIn, refusalOf } from './printed-commands.ts'

const refusedIn = async (texts: { file: string; text: string }[]): Promise<string[]> => {
  const refused = []
  for (const { file, text } of texts)
    for (const mention of mentionsIn(text)) {
      const why = await refusalOf(mention)
      if (why !== undefined) refused.push(`${file}: ${mention.command}: ${why}`)
    }
  return refused
}

/** `svc user import|export` as the two commands that it is. */
const alternatives = (text: string): string[] => {
  const [choice] = /(?<= )[\w-]+(?:\|[\w-]+)+/.exec(text) ?? []
  return choice === undefined
    ? [text]
    : choice.split('|').flatMap((word) => alternatives(text.replace(choice, word)))
}

/** What stands between backticks, and the lines of a shell script. */
const namedIn = (page: string): string[] => [
  ...[...page.matchAll(/`(svc [^`]+)`/g)].map(([, text]) => text!.replaceAll(String.raw`\|`, '|')),
  ...[...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, script]) => script!.replaceAll('\\\n', ' ')),
]

describe('a command that is only named', () => {
  test('is one of svc, with its flags, in each error, hint and help text', async () => {
    const texts = sourceTree().flatMap(({ file, strings }) => strings.map((text) => ({ file, text })))
    expect(await refusedIn(texts)).toEqual([])
  })

  test('is one of svc, with its flags, in the docs', async () => {
    const docs = readdirSync(`${root}docs`).filter((name) => name.endsWith('.md'))
    const files = ['README.md', 'CHANGELOG.md', ...docs.map((name) => `docs/${name}`)]
    const texts = files.flatMap((file) =>
      namedIn(readFileSync(root + file, 'utf8')).map((text) => ({
        file,
        text: alternatives(text).join('\n'),
      })),
    )
    const refused = await refusedIn(texts)
    // A page may name a group of commands.
    expect(refused.filter((line) => !line.endsWith('(outputHelp)'))).toEqual([])
  })
})

test.each([
  ['svc usr list', 'there is no command "usr"'],
  ['svc org lst', /unknown command 'lst'/],
  ['svc geofence delete 12 --yess', /unknown option '--yess'/],
  ['Run svc approve wait apr_1 --timeout', 'taken'],
  ['svc profile login saves one; svc serve makes one', 'taken'],
  ['svc geofence delete requires --yes when it cannot ask for confirmation', 'taken'],
  [`svc ${unknownValue} --yes`, 'taken'],
  [`svc approve wait ${unknownValue} goes on; svc approve cancl ${unknownValue}`, /unknown command 'cancl'/],
])('of %j is said: %s', async (text, why) => {
  const [first] = await refusedIn([{ file: '', text }])
  expect(first ?? 'taken').toMatch(why)
})
