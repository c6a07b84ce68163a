import { administration } from './administration.ts'
import { answers, places, reports } from './answers.ts'
import { browsers, safari } from './browsers.ts'
import { changes } from './changes.ts'
import { computer } from './computer.ts'
import { lostPhone, newPhone, secondPhone } from './enrollment.ts'
import { further, moments } from './moments.ts'
import { decisions, endings } from './requests.ts'
import { agents, settings } from './settings.ts'
import { terminal } from './terminal.ts'
import { addresses, standing, twoDevices } from './variants.ts'
import type { Steps, Way } from './way.ts'

/** Every screen of the page, which is pictured and checked. That of an administrator comes first, while there are few members. */
export const journeys = {
  administration,
  'a new phone': newPhone,
  'a second phone': secondPhone,
  'a lost phone': lostPhone,
  browsers,
  'an iPhone': safari,
  decisions,
  changes,
  answers,
  reports,
  places,
  endings,
  moments,
  further,
  settings,
  agents,
  terminal,
  addresses,
  'two devices': twoDevices,
  standing,
  'a computer': computer,
} satisfies Record<string, (way: Way) => Steps>

export type Journey = keyof typeof journeys

export const titles = Object.keys(journeys) as Journey[]

/** Of the pictures, and of the checks of `npm run bench -- page`. The system tests check English. */
export const languages = ['en', 'de', 'ja', 'ar']
