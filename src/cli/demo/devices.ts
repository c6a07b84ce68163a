import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { step, type Step } from './step.ts'

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

const ida = '--mobile +12025550120'
const stock = '--stock-name AAPL --total-price 12,500.00'

/** Apps on phones, machines, and messages: with --dev the service shows what it would send. */
export const devices: Step[] = [
  step(
    'An app registers its user',
    'mobile register --country-code +1 --mobile 2025550120 --first-name Ida --last-name Rhodes',
    { answers: { expires_at: /./ } },
  ),
  step('A code goes to the phone', `mobile send-otp ${ida}`, { answers: { sends_left: 4 } }),
  step('and proves it, once', `mobile confirm ${ida} --otp-file code.txt`, {
    before: readCode,
    answers: { refresh_token: /./ },
  }),
  step('', `mobile confirm ${ida} --otp-file code.txt`, { exit: 'forbidden' }),
  step('An IMEI with a digit that is wrong', 'mobile check-imei --imei 490154203237519', {
    exit: 'usage',
    answers: { message: /imei/ },
  }),
  step('What a stock costs', 'iot price aapl', { answers: { symbol: 'AAPL' } }),
  step(
    'A machine that is tied to it',
    `iot register press-01 --org acme ${stock} --current-stock-price 250.42 --machine-name "Press 1" --mobile +12025550120`,
  ),
  step(
    'Its login, once with a price that is none',
    `iot login press-01 --org acme ${stock} --current-stock-price 250.420`,
    {
      exit: 'usage',
      answers: { message: /decimals/ },
    },
  ),
  step('', `iot login press-01 --org acme ${stock} --current-stock-price 250.42`),
  step('An alert', 'notify global --to +12025550120 --type alert --message "The door on the roof is open."', {
    answers: { message_id: /^msg_/ },
  }),
  step('What was sent', 'notify outbox list', { answers: [{ kind: 'otp' }, { kind: 'alert' }] }),
]
