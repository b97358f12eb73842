import type { Attack } from './attack.ts'
import { startClients } from './clients.ts'
import { projectCopies } from './project-copies.ts'

const CLIENTS = 12
/** The most conditions that rules may have. All are looked at for every product, since none matches. */
const RULES = {
  match: 'any',
  conditions: Array.from({ length: 60 }, (_, n) => ({ field: 'price.NGN', operator: 'in', value: [n + 1, n + 2] })),
}

/** Previews rules over so many products, twelve at a time. */
export const previewRulesOver =
  (products: number): Attack =>
  async (place) => {
    await projectCopies(place, products)
    return startClients(CLIENTS, () => place.attacker.call('POST', '/v1/collections/preview', { rules: RULES }))
  }
