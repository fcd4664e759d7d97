def rows_of(*a):
    raise NotImplementedError


table_reader = completed = schema_of = block_of = rows_of
