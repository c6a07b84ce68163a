import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SvcError } from '../../core/errors.ts'

/** The commented configuration of `svc serve`: beside the built program, or in the documentation of the source tree. */
export const sampleConfig = (): string => {
  const here = dirname(fileURLToPath(import.meta.url))
  const file = [join(here, 'svc.sample.yaml'), join(here, '../../../docs/svc.sample.yaml')].find((one) =>
    existsSync(one),
  )
  if (file === undefined)
    throw new SvcError('failed', 'no_sample', 'The sample configuration is missing from this installation', {
      hint: 'Install svc again',
    })
  return readFileSync(file, 'utf8').trimEnd()
}
