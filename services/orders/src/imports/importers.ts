import type { Importers } from '@backoffice/importing/importer.ts'
import { importCustomers } from './import-customers.ts'

/** The import templates of the service (OP-54). */
export const importers: Importers = { customers: importCustomers }
