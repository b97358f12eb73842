/* What authors of apps import: `@backoffice/app-sdk`. The page of an embed loads app-bridge.js. */

export { apiClient } from './api-client.ts'
export type { components, operations, paths, webhooks } from './api-types.ts'
export { type Credentials, encryptedKeyStore, type KeyStore } from './key-store.ts'
export {
  type PlatformKeys,
  type PlatformTokens,
  type ProvisionToken,
  platformTokens,
  type SessionToken,
} from './platform-tokens.ts'
export { type Records, recordsInFolder, recordsInMemory } from './records.ts'
export { type TokenRefusal, TokenRefused } from './token-refused.ts'
export { type UsedTokens, usedTokensInMemory } from './used-tokens.ts'
export {
  MAX_WEBHOOK_BYTES,
  verifyWebhook,
  verifyWebhookOfAny,
  type WebhookEvent,
  WebhookRefused,
} from './verify-webhook.ts'
