import * as z from 'zod/mini'
import { chosen, id, line, optional, seen, shown } from './field.ts'
import { operations } from './declaration.ts'
import { country_code, email, mobile as number, personal, phoneFields, time } from './records.ts'

// Bodies and data of the mobile operations. spec: not shown, except the token in the path

export const e164 = (description: string) => chosen(number, description, personal.e164)

export const either = e164('Mobile number, E.164; or national, with country_code')
/** For a national mobile number, as answers contain it. */
export const prefix = optional(country_code, 'Dialing prefix with plus, for a national number', {
  example: '+1',
})

/** What an app reports about its user and its phone. */
export const phoneProfile = {
  email: optional(email, 'E-mail address', personal.email),
  device_id: optional(line(64), 'Id of the phone, as the app will send it in results', {
    example: '5A1C0F3E',
  }),
  imei: optional(line(40), 'IMEI or IMEISV of the phone', {
    example: '35-209900-176148-1',
    personal: true,
  }),
  platform: optional(line(40), 'Platform of the phone', { example: 'ios' }),
  device_name: optional(line(100), 'Name of the phone', { example: "Ada's phone" }),
}

/** When the next message can be sent. */
export const sending = {
  expires_at: chosen(time, 'When the code or link expires'),
  sends_left: chosen(z.int(), 'Number of times it can be sent again now'),
  next_send_at: chosen(time, 'When it can be sent again'),
}

const otp = chosen(
  z.string().check(z.trim(), z.regex(/^[0-9]{6}$/, 'must be the six digits that were sent')),
  'The code that was sent to the phone',
  { secret: true },
)

const tokens = z.looseObject({
  user_id: chosen(id, 'User id'),
  access_token: chosen(z.string(), 'Signed (JWS); its key is at /.well-known/jwks.json', { secret: true }),
  expires_at: chosen(time, 'When the access token expires'),
  refresh_token: chosen(z.string(), 'Works once, for the next pair of tokens', { secret: true }),
  refresh_expires_at: chosen(time, 'When the refresh token expires'),
})

/** Text of several lines, with any line endings. */
const paragraphs = z.string().check(
  z.trim(),
  z.overwrite((text) => text.replace(/\r\n?/g, '\n')),
  z.minLength(1, 'must not be empty'),
  z.maxLength(5000, 'must have at most 5000 characters'),
  seen,
)

export const mobile = operations({
  registerMobileUser: {
    route: 'POST /wp/register/mobile/user',
    cli: 'mobile register',
    scope: 'app',
    summary: 'Register the user of an app; a code must confirm the phone within a day',
    message: 'Registered; confirm the phone to activate the account',
    example: '--country-code +1 --mobile 2025550101 --first-name Ada --last-name Lovelace',
    input: z.strictObject({
      country_code: chosen(country_code, 'Dialing prefix with plus', { example: '+1' }),
      mobile: chosen(number, 'Mobile number, national', personal.mobile),
      first_name: chosen(line(100), 'First name', { example: 'Ada' }),
      last_name: chosen(line(100), 'Last name', { example: 'Lovelace' }),
      ...phoneProfile,
    }),
    data: z.looseObject({
      ...phoneFields,
      registration_token: chosen(
        z.string(),
        'Token that confirms exactly this registration, sent with the code',
        { secret: true },
      ),
      expires_at: chosen(time, 'When the registration expires'),
    }),
  },
  sendOtp: {
    route: 'POST /wp/send/sms',
    cli: 'mobile send-otp',
    effect: 'notifies',
    scope: 'app',
    summary:
      'Send a six-digit code by SMS; it works once, for ten minutes; at most five are sent in that time',
    message: 'Code sent',
    example: '--mobile +12025550101',
    input: z.strictObject({ mobile: either, country_code: prefix }),
    data: z.looseObject({ ...sending, message_id: chosen(z.string(), 'Id of the message in the outbox') }),
  },
  confirmRegistration: {
    route: 'POST /wp/confirm/register',
    cli: 'mobile confirm',
    scope: 'app',
    summary: 'Confirm a phone with its code; activates the account, or signs in to an active one',
    message: 'Account active',
    example: '--mobile +12025550101 --otp-file code.txt',
    input: z.strictObject({
      mobile: either,
      country_code: prefix,
      otp,
      registration_token: optional(
        line(200),
        'The token of the registration; required when the number was registered with different details',
        { secret: true },
      ),
    }),
    data: tokens,
  },
  refreshMobileToken: {
    route: 'POST /wp/mobile/refresh/token',
    cli: 'mobile refresh-token',
    scope: 'app',
    summary: 'Exchange a refresh token for a new pair; reusing an old token ends the session',
    message: 'Tokens refreshed',
    example: '--refresh-token-file token.txt',
    input: z.strictObject({
      refresh_token: chosen(line(200), 'The refresh token of the last pair', { secret: true }),
    }),
    data: tokens,
  },
  contactSupport: {
    route: 'POST /contact/support',
    cli: 'mobile support',
    effect: 'notifies',
    scope: 'app',
    summary: 'Send an e-mail to support; at most three per hour for each sender',
    message: 'Message accepted',
    example:
      '--name "Ada Lovelace" --email ada@acme.example --subject "New phone" --message "I have a new phone."',
    input: z.strictObject({
      name: chosen(line(120), 'Name of the sender', { example: 'Ada Lovelace' }),
      email: optional(email, 'E-mail address for the reply', personal.email),
      mobile: z.optional(e164('Or mobile number for the reply, E.164')),
      subject: chosen(line(150), 'Subject', { example: 'New phone' }),
      message: chosen(paragraphs, 'The message', { example: 'I have a new phone.' }),
    }),
    data: z.looseObject({ message_id: chosen(z.string(), 'Id of the message in the outbox') }),
  },
  saveFaceauthSuccess: {
    route: 'GET /save/faceauth/success/{auth_token}',
    cli: 'mobile faceauth-success',
    // Not an argument: the list of processes would show the token.
    args: [],
    // It uses up the token, although the method is GET.
    effect: 'write',
    scope: 'app',
    summary: 'Record a successful face authentication by the caller; the token works once',
    message: 'Face authentication recorded',
    example: '--auth-token-file token.txt',
    input: z.strictObject({ auth_token: shown(line(200), 'Token of `svc auth token`', { secret: true }) }),
    data: z.looseObject({
      user_id: chosen(id, 'Id of the user who was verified'),
      request_id: chosen(z.string(), 'Request id of the verification'),
      source: chosen(z.literal('caller'), 'Always the caller; not verified'),
      recorded_at: chosen(time, 'When it was recorded'),
    }),
  },
})
