import { createFileProvider } from './file-provider.ts'
import { createHttpProvider } from './http-provider.ts'
import type { QuoteProvider } from './quote.ts'
import { sampleProvider } from './sample.ts'
import type { QuotesSettings } from '../../config/quotes-settings.ts'

/** Where quotes come from; the sample where nothing is set. Fails with an SvcError on a file that is no good. */
export const openProvider = (settings: QuotesSettings | undefined, now: () => string): QuoteProvider => {
  if (!settings) return sampleProvider
  return 'file' in settings ? createFileProvider(settings.file) : createHttpProvider(settings.http, now)
}
