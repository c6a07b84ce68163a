import { createStage, type Stage } from '../page-stage.ts'
import { createTunnel } from '../https-tunnel.ts'
import type { Journey } from './table.ts'
import { createWay, type Way } from './way.ts'

const android =
  'Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36'

/** Where journeys begin, for pictures and for checks. */
export const createStages = () => {
  let ofPhones: Promise<Stage> | undefined
  let ofComputer: Promise<Stage> | undefined
  const started = (): Promise<Stage[]> => Promise.all([ofPhones, ofComputer].flatMap((one) => one ?? []))
  return {
    /** A computer needs an address with https to show codes; a phone needs none. */
    open: async (journey: Journey, language = 'en'): Promise<Way> => {
      const isComputer = journey === 'a computer'
      const stage = await (isComputer
        ? (ofComputer ??= createTunnel().then((tunnel) =>
            createStage({ between: tunnel, notifications: true }),
          ))
        : (ofPhones ??= createStage({ notifications: true })))
      const viewport = { width: 390, height: 780 }
      const device = isComputer ? {} : { userAgent: android }
      const phone = await stage.openPhone('light', { locale: language, viewport, ...device })
      return createWay(stage, phone, language)
    },
    closePhones: async (): Promise<void> => {
      for (const stage of await started()) await stage.closePhones()
    },
    close: async (): Promise<void> => {
      for (const stage of await started()) await stage.close()
    },
  }
}

export type Stages = ReturnType<typeof createStages>
