import { readCode } from './developer-log.ts'
import { step, type Step } from './step.ts'

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
