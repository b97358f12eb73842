import { listTemplates } from './templates/list-templates.ts'

/** The service's API. */
export const operations = [listTemplates]
