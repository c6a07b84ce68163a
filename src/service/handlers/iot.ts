import type { iot } from '../../contract/iot.ts'
import type { Handlers } from '../call.ts'
import { logIn } from '../machines/login.ts'
import { findMachine, prepareRegistration } from '../machines/machine.ts'
import { showPrice } from '../price.ts'
import { notFound } from '../refusal.ts'

export const iotHandlers: Handlers<typeof iot> = {
  registerMachine: { before: prepareRegistration },
  loginMachine: logIn,
  verifyMachine: findMachine,

  getStockPrice: {
    before: async ({ Symbol }, { service }) => {
      const quote = await service.quotes.find(Symbol)
      if (!quote) throw notFound('Stock')
      const { name, price, exchange, symbol, as_of, stale, source } = quote
      const told = { stockName: name, stockPrice: showPrice(price), stockExchangeName: exchange }
      return async () => ({ ...told, symbol, as_of, stale, source })
    },
  },
}
