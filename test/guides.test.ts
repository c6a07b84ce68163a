import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './source-tree.ts'

const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const records = readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`)
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
/** Code blocks and hidden commands show other files, and none of our links. */
const proseOf = (file: string): string => read(file).replaceAll(/^ *```[^]*?^ *```$|<!--[^]*?-->/gm, '')

/** Files that the recipes let their reader write. */
const toWrite = new Set([
  'src/factors/battery.ts',
  'src/service/delivery/chat.ts',
  'src/cli/picture/nearest-command.ts',
  'src/cli/approve/open-command.ts',
])

/** Paths between backticks, which start at the root of the repository. */
const pathsIn = (file: string): string[] =>
  [...proseOf(file).matchAll(/`([\w.-]+(?:\/[\w.-]+)+\/?)`/g)]
    .map(([, path]) => path!)
    .filter((path) => /^(?:src|test|scripts|docs|bin|\.ci)\/|\.(?:ts|mjs|md|sh|txt)$/.test(path))
    .filter((path) => !path.startsWith('dist/'))

const isMissing = (path: string): boolean => !toWrite.has(path) && !existsSync(join(root, path))

describe('the guides to the code', () => {
  test('name only paths that exist', () => {
    const guides = ['AGENTS.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'docs/decisions.md', ...records]
    const missing = guides.flatMap((file) =>
      pathsIn(file)
        .filter(isMissing)
        .map((path) => `${file}: ${path}`),
    )
    expect(missing).toEqual([])
  })

  test('and every page have only links that lead somewhere', () => {
    const broken = pages.flatMap((file) =>
      [
        ...proseOf(file)
          .replaceAll(/`[^`]*`/g, '')
          .matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)|src="([^"]+)"/g),
      ]
        .map(([, link, image]) => link ?? image!)
        .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(file), target)))
        .map((target) => `${file}: ${target}`),
    )
    expect(broken).toEqual([])
  })
})

test('each line of a pipeline that asks is also typed on its page, where a test runs it', () => {
  const page = read('docs/ci.md')
  const typed = new Set(
    [...page.matchAll(/^\$ (svc approve run .*?)(?:; echo .*)?$/gm)].map(([, line]) => line!),
  )
  const blocks = [...page.matchAll(/^```(?:yaml|groovy|sh)\n([^]*?)^```$/gm)].map(([, block]) => block!)
  const asking = blocks.join('').match(/svc approve run [^'\n]+/g)!
  expect(asking.length).toBeGreaterThan(5)
  const urls = /\$(?:CI_JOB|BUILD)_URL/
  expect(asking.filter((line) => !typed.has(line.replace(urls, '$JOB')))).toEqual([])
})

test('a page installs each package by a path that npm takes for a file, not for owner/name on GitHub', () => {
  const paths = [
    ...pages
      .map(read)
      .join('\n')
      .matchAll(/npm install [^\n`]*?(\S+\.tgz)/g),
  ]
  expect(paths.length).toBeGreaterThan(5)
  expect(paths.filter(([, path]) => /^[^./].*\//.test(path!)).map(([line]) => line)).toEqual([])
})

describe('the records of decisions', () => {
  test('are all in the index, once, under their title', () => {
    const titles = records.map((file) => {
      const [, number, title] = /^# (\d{4}) (.+)$/m.exec(read(file)) ?? []
      return `- [${number}](${file.slice('docs/'.length)}) ${title}`
    })
    const listed = [...read('docs/decisions.md').matchAll(/^- .+$/gm)].map(([line]) => line)
    expect(listed.toSorted()).toEqual(titles.toSorted())
  })

  test('say what was decided, instead of what, and what follows, in a few lines', () => {
    const odd = records.filter((file) => {
      const text = read(file)
      const parts = [...text.matchAll(/^\*\*(.+?):\*\*/gm)].map(([, part]) => part)
      return parts.join() !== 'Decision,Instead of,Consequence' || text.trim().split('\n').length > 32
    })
    expect(odd).toEqual([])
  })
})
