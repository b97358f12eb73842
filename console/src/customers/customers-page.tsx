import { Link, useNavigate } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { OpenButton } from '../parts/action.tsx'
import { Edit } from '../parts/edit.tsx'
import { Filters, useFilters, Words } from '../parts/filters.tsx'
import { List, useList } from '../parts/list.tsx'
import { Empty, Page } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Long, Time } from '../parts/text.tsx'
import { type Customer, fieldsOf, membersOf, nameOf } from './customer.ts'

const COLUMNS: readonly Column<Customer>[] = [
  {
    head: 'Customer',
    cell: (customer) => (
      <Link to="/customers/$customer" params={{ customer: customer.id }}>
        <Long text={nameOf(customer)} isCut />
      </Link>
    ),
  },
  { head: 'E-mail', cell: ({ email }) => <Long text={email ?? '–'} isCut /> },
  { head: 'Phone', cell: ({ phone }) => <Long text={phone ?? '–'} isCut /> },
  { head: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
]

const NEW = { body: { firstname: '', lastname: null, email: null, phone: null, note: null }, tag: '' }

/** The customers of the workspace, newest first. */
export function CustomersPage() {
  const [search] = useFilters()
  const navigate = useNavigate()
  const customers = useList(['customers'], (query) => bodyOf(api.GET('/v1/customers', { params: { query } })))
  return (
    <Page
      title="Customers"
      actions={
        <OpenButton
          needs="customer::create"
          className="primary"
          opens={(close) => (
            <Edit
              title="Add a customer"
              verb="Add customer"
              of={NEW}
              fieldsOf={fieldsOf}
              save={async ({ changed }) => {
                const body = { firstname: '', ...membersOf(changed) }
                return bodyOf(api.POST('/v1/customers', { body }))
              }}
              done="The customer is added."
              changes={['customers']}
              onDone={(made) => made && navigate({ to: '/customers/$customer', params: { customer: made.id } })}
              onClose={close}
            />
          )}
        >
          Add customer
        </OpenButton>
      }
    >
      <Filters>
        <Words label="Search" name="query" placeholder="name or e-mail" />
        <Words label="E-mail, exactly" name="email" />
      </Filters>
      <List
        of={customers}
        label="Customers"
        columns={COLUMNS}
        empty={
          <Empty title="No customers">
            {Object.keys(search).length > 0 ? 'No customer is like this.' : 'They come with their first order.'}
          </Empty>
        }
      />
    </Page>
  )
}
