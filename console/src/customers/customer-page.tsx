import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import { Act } from '../parts/action.tsx'
import { Answer } from '../parts/answer.tsx'
import { Edit } from '../parts/edit.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Id, Long, Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { fieldsOf, membersOf, nameOf, readCustomer, type TaggedCustomer } from './customer.ts'
import { CustomerOrders } from './customer-orders.tsx'
import { Erase, Erasure } from './erasure.tsx'

/** One customer and his orders; of one who is erased what is left. */
export function CustomerPage() {
  const { customer: id } = useParams({ from: '/customers/$customer' })
  const can = useCan()
  const [editing, setEditing] = useState<TaggedCustomer>()
  const found = useQuery({ queryKey: ['customers', id], queryFn: () => readCustomer(id) })
  const isGone = found.error instanceof ApiFailure && found.error.code === 'not_found'
  return (
    <Page
      title={isGone ? 'Customer' : found.data ? nameOf(found.data.body) : 'Customer'}
      above={<Link to="/customers">Customers</Link>}
      actions={
        found.data &&
        !isGone && (
          <>
            <Act needs="customer::update" className="primary" onAct={() => setEditing(found.data)}>
              Edit
            </Act>
            <Erase id={id} />
          </>
        )
      }
    >
      {editing && (
        <Edit
          title="Edit customer"
          of={editing}
          fieldsOf={fieldsOf}
          read={() => readCustomer(id)}
          save={({ changed }, tag) =>
            bodyOf(
              api.PUT('/v1/customers/{id}', {
                params: { path: { id } },
                headers: { 'if-match': tag },
                body: membersOf(changed),
              }),
            )
          }
          done="The customer is saved."
          changes={['customers', 'orders']}
          onClose={() => setEditing(undefined)}
        />
      )}
      {isGone ? (
        <Erasure id={id} />
      ) : (
        <Answer of={found}>
          {({ body: customer }) => (
            <>
              <Section title="Details">
                <Facts
                  of={{
                    Name: nameOf(customer),
                    'E-mail': customer.email,
                    Phone: customer.phone,
                    Since: <Time at={customer.created_at} />,
                    Changed: <Time at={customer.updated_at} />,
                    Id: <Id id={customer.id} />,
                    Note: customer.note && <Long text={customer.note} />,
                  }}
                />
              </Section>
              {can('sale::read') && <CustomerOrders customer={id} />}
            </>
          )}
        </Answer>
      )}
    </Page>
  )
}
