import { createWriteStream, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { startService, temporaryFolder } from '../e2e/processes.ts'
import { agrees, disagreements, play, readPage, stepsOf } from './doc-page.ts'

const docs = fileURLToPath(new URL('../../docs/', import.meta.url))
const pages = readdirSync(docs).filter((name) => name.endsWith('.md') && readPage(docs + name).length > 0)

describe('a page of the docs', () => {
  test.each(pages)('%s shows what really happens', async (name) => {
    const folder = temporaryFolder()
    const key = 'docs-operator-key-of-32-characters'
    const service = await startService(join(folder.path, 'data'), key, ['--dev'])
    try {
      // A page that needs what only `--dev` shows finds it in the file `log`.
      service.process.stderr!.pipe(createWriteStream(join(folder.path, 'log')))
      const steps = readPage(docs + name)
      const shown = await play(steps, { home: folder.path, service })
      expect(disagreements(steps, shown)).toEqual([])
    } finally {
      await service.stop()
      folder.remove()
    }
  })

  test('is read as it is typed, hidden steps too', () => {
    const page = '<!-- $ svc one -->\n```console\n$ svc two \\\n>   --three\nfour\n$ svc five\n```\nsix\n'
    expect(stepsOf(page)).toEqual([
      { line: 1, command: 'svc one', hidden: true, expected: [] },
      { line: 3, command: 'svc two \\\n  --three', hidden: false, expected: ['four'] },
      { line: 6, command: 'svc five', hidden: false, expected: [] },
    ])
  })

  test.each([
    [['id  7'], ['id  7'], true],
    [['id  7'], ['id  8'], false],
    [['at 2030-01-31T12:00:00.000Z'], ['at 2031-02-01T00:00:00.123Z'], true],
    [['apr_gAvh7DXSnypFLAgMiCCJb'], ['apr_n2WWxpvx56HXXLxCXDXiu'], true],
    [['{"a":1,"b":2}'], ['{"a":1,…}'], true],
    [['{"a":1,"b":2}'], ['{"b":1,…}'], false],
    [['one', 'two', 'three'], ['one', '…'], true],
    [['one', 'two', 'three'], ['one', '…', 'two'], false],
    [['one', 'two'], ['one'], false],
  ])('where %j is shown, %j agrees: %s', (shown, expected, result) => {
    expect(agrees(shown, expected)).toBe(result)
  })
})
