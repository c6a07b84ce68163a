import type { iot } from '../../contract/iot.ts'
import { Refusal } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { showPrice } from './quotes/quote.ts'

const unknownStock = (): Refusal =>
  new Refusal(404, 'not_found', 'Stock not found', {
    hint: 'Use its code or its full name as the quote provider knows it, such as AAPL or Apple Inc.',
  })

export const getStockPrice: HandlerOf<typeof iot.getStockPrice> = {
  before: async ({ Symbol }, { service }) => {
    const quote = await service.quotes.find(Symbol)
    if (!quote) throw unknownStock()
    const { name, price, exchange, symbol, as_of, stale, source } = quote
    const told = { stockName: name, stockPrice: showPrice(price), stockExchangeName: exchange }
    return async () => ({ ...told, symbol, as_of, stale, source })
  },
}
