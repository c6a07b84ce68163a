import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { root, sourceTree, unknownValue } from '../source-tree.ts'
import { mentionsIn, refusalOf } from './printed-commands.ts'
import { groups } from '../../src/cli/main.ts'

const refusedIn = async (texts: { file: string; text: string }[]): Promise<string[]> => {
  const refused = []
  for (const { file, text } of texts)
    for (const mention of mentionsIn(text)) {
      const why = await refusalOf(mention)
      if (why !== undefined) refused.push(`${file}: ${mention.command}: ${why}`)
    }
  return refused
}

/** `svc user import|export` as two commands. */
const alternatives = (text: string): string[] => {
  const [choice] = /(?<= )[\w-]+(?:\|[\w-]+)+/.exec(text) ?? []
  return choice === undefined
    ? [text]
    : choice.split('|').flatMap((word) => alternatives(text.replace(choice, word)))
}

/** Text between backticks, and the lines of a shell script. */
const namedIn = (page: string): string[] => [
  ...[...page.matchAll(/`(svc [^`]+)`/g)].map(([, text]) => text!.replaceAll(String.raw`\|`, '|')),
  ...[...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, script]) => script!.replaceAll('\\\n', ' ')),
]

describe('a command that svc mentions', () => {
  test('exists, with its flags, in each error, hint and help text', async () => {
    const texts = sourceTree().flatMap(({ file, strings }) => strings.map((text) => ({ file, text })))
    expect(await refusedIn(texts)).toEqual([])
  })

  test('exists, with its flags, in the docs', async () => {
    const docs = ['docs', 'docs/decisions'].flatMap((folder) =>
      readdirSync(root + folder).map((name) => `${folder}/${name}`),
    )
    const files = ['README.md', 'CHANGELOG.md', ...docs.filter((name) => name.endsWith('.md'))]
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

/** A command or a flag that a person may paste, up to its value. */
const command = new RegExp(
  String.raw`(?:^|[\s("\`:;,])svc (?:${Object.keys(groups).join('|')})\b[^.,;:"\`\n]*$|^--[a-z-]+[ =]'?$`,
)
/** Already a shell line, or several words of svc itself. */
const isLine = (value: string): boolean =>
  /^(?:shellQuote|quoted|sameService)\(|\.map\(shellQuote\)|\.example$|^Object\.keys\(|(?:^|\.)flags$/.test(
    value,
  ) || /\? '[^'$]*' : (?:'[^'$]*'|` --[a-z-]+ \$\{shellQuote\([\w.]+\)\}`)$/.test(value)
/** Names of commands, flags and topics, chosen by svc. */
const ownWords = new Set([
  'src/cli/approve/run.ts picking',
  'src/cli/approve/separation.ts inOrg',
  'src/cli/program/help-topics.ts meant',
  'src/cli/mcp/command.ts safeLine(word)',
  'src/cli/profile/commands.ts text',
  'src/cli/serve/service-command.ts name',
  'src/cli/declare/export-text.ts schemaFile',
  'src/cli/declare/comparison.ts section',
])
/** Finds a flag with a value, and what is wrong with it. */
const isSaid = (after: string): boolean => /^(?::| is )/.test(after)

test('a value in a printed command is quoted for a shell', () => {
  const raw = sourceTree()
    // IDs and slugs of the service are safe in a command.
    .filter(({ file }) => !file.startsWith('src/service/'))
    .flatMap(({ file, values }) =>
      values
        .filter(({ before, value, after }) => command.test(before) && !isLine(value) && !isSaid(after))
        .filter(({ value }) => !ownWords.has(`${file} ${value}`))
        .map(({ before, value }) => `${file}: ${before}\${${value}}`),
    )
  expect(raw).toEqual([])
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
])('the check of %j finds: %s', async (text, why) => {
  const [first] = await refusedIn([{ file: '', text }])
  expect(first ?? 'taken').toMatch(why)
})
