import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const looksMs = 20
const looks = 250

/** Where the demo keeps what the service tells a developer: the messages that a phone would have got. */
export const developerLog = (folder: string): string => join(folder, 'service.log')

/** Reads the code off the text message, as a person would, and puts it into `code.txt`. */
export const readCode = async (folder: string): Promise<void> => {
  const log = developerLog(folder)
  for (let look = 0; look < looks; look++) {
    const code = existsSync(log) && /Your code is (\d{6})/.exec(readFileSync(log, 'utf8'))?.[1]
    if (code) return writeFileSync(join(folder, 'code.txt'), code)
    await new Promise((resolve) => setTimeout(resolve, looksMs))
  }
}
