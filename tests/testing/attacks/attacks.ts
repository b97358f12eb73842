import type { Attack } from './attack.ts'
import { changeUnderMembershipLock } from './change-under-membership-lock.ts'
import { floodConsole } from './flood-console.ts'
import { inventKeys } from './invent-keys.ts'
import { pauseReaders } from './pause-readers.ts'
import { pipelineRequests } from './pipeline-requests.ts'
import { previewRulesOver } from './preview-rules.ts'
import { publishManyStates, publishToManyEndpoints } from './publish-many.ts'
import { sendAtRateLimit } from './send-at-rate-limit.ts'
import { sendLargestProducts } from './send-largest-products.ts'
import { updateLockedProduct } from './update-locked-product.ts'
import { updateHotProduct, updateLargeProduct } from './update-products.ts'
import { uploadLargeImages } from './upload-images.ts'
import { withholdBodies } from './withhold-bodies.ts'

/** The attacks by what a workspace does. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'withholds the bodies of 512 requests': withholdBodies,
  'previews rules over 60,000 products, 12 at a time': previewRulesOver(60_000),
  'previews rules over 4,000 products, 12 at a time': previewRulesOver(4000),
  'updates a product whose row is locked, 12 at a time': updateLockedProduct,
  'changes products while its membership lock is held': changeUnderMembershipLock,
  'publishes 2,400 events to 50 endpoints': publishToManyEndpoints,
  'has 100,000 states to publish': publishManyStates,
  'reads none of a file of 20 MB, 200 at a time': pauseReaders,
  'uploads large images, 20 at a time': uploadLargeImages,
  'tries 300 invented keys a second': inventKeys,
  'asks 200 times a second as the console does, half of it with invented sessions': floodConsole,
  'updates one product, 40 at a time': updateHotProduct,
  'updates a product with 2,048 variants, 8 at a time': updateLargeProduct(8),
  'updates a product with 2,048 variants, 40 at a time': updateLargeProduct(40),
  'creates the largest products that are allowed, 8 at a time': sendLargestProducts,
  'pipelines requests over eight connections': pipelineRequests,
  'sends as many requests as four keys may': sendAtRateLimit,
}
