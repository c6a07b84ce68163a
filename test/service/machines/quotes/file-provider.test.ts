import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFileProvider } from '../../../../src/service/machines/quotes/file-provider.ts'
import { temporaryFolder } from '../../../temporary-folder.ts'

let folder: string
let remove: () => void
beforeAll(() => void ({ path: folder, remove } = temporaryFolder()))
afterAll(() => remove())

const written = (text: string): string => {
  const path = join(folder, 'quotes.json')
  writeFileSync(path, text)
  return path
}
const row = '{"symbol":"ACME","name":"Acme Corp","price":1234.505,"exchange":"XEXA"}'
const file = (...rows: string[]): string => `{"as_of":"2030-01-31","quotes":[${rows.join()}]}`

describe('a quotes file', () => {
  test('finds a code before a name, in any case, with the exact price', async () => {
    const other =
      '{"symbol":"X","name":"acme","price":"9007199254740993","exchange":"Y","as_of":"2030-01-01T00:00:00Z"}'
    const { find } = createFileProvider(written(`\uFEFF${file(other, row)}`))
    expect(await find('acme')).toEqual({
      symbol: 'ACME',
      name: 'Acme Corp',
      price: '1234.51',
      exchange: 'XEXA',
      as_of: '2030-01-31T00:00:00.000Z',
    })
    expect(await find('ACME CORP')).toMatchObject({ symbol: 'ACME' })
    expect(await find('x')).toMatchObject({ price: '9007199254740993.00', as_of: '2030-01-01T00:00:00.000Z' })
    expect(await find('AC')).toBeUndefined()
  })

  test('can be replaced while the service runs', async () => {
    const { find } = createFileProvider(written(file(row)))
    written(file(row.replace('1234.505', '7')))
    expect(await find('ACME')).toMatchObject({ price: '7.00' })
    written('no')
    await expect(find('ACME')).rejects.toThrow('it is not JSON')
  })

  test.each([
    ['no', 'it is not JSON'],
    ['[]', 'it is missing or not valid'],
    ['{"quotes":[]}', 'as_of is missing or not valid'],
    [file('{"symbol":"A","name":"B","exchange":"C"}'), 'quotes.0.price is missing or not valid'],
    [file(row.replace('1234.505', '-1')), 'ACME: its price is not a price such as 1234.50'],
    [file(row).replace('2030-01-31', 'yesterday'), 'ACME: its as_of is not a time such as'],
    [file(row, row.replace('ACME', 'acme')), 'acme appears twice'],
  ])('%s stops the start: %s', async (text, why) => {
    expect(() => createFileProvider(written(text))).toThrow(why)
  })

  test.each(['none.json', '../../../../../../../dev/zero', '.'])('%s stops the start', (name) => {
    expect(() => createFileProvider(join(folder, name))).toThrow(/cannot be read|is not a text file/)
  })
})
