import type { Attack } from './attack.ts'
import { startClients } from './clients.ts'
import { projectCopies } from './project-copies.ts'

const CLIENTS = 12
/** The most conditions that rules may have. Each is compared with every product, since none matches. */
const RULES = {
  match: 'any',
  conditions: Array.from({ length: 60 }, (_, n) => ({
    field: 'name',
    operator: 'contains',
    value: `no such name ${n}`,
  })),
}

/** Previews rules over so many products, twelve at a time. */
export const previewRulesOver =
  (products: number): Attack =>
  async (place) => {
    await projectCopies(place, products)
    return startClients(CLIENTS, () => place.attacker.call('POST', '/v1/collections/preview', { rules: RULES }))
  }
