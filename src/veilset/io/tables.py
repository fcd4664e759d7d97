def open_table(*a):
    raise NotImplementedError


batches_of = check_plain = write_table = open_table
